// Separate from the schemas, so that building a key does not load a validator.

/** Entry type of a conversation archive, in scope `episodic` under `conversation:<session id>`. */
export const conversationType = 'conversation'
/** Key of the notes that a person or an agent wrote into the rolling window, in scope `short-term`. */
export const windowNotesKey = 'EPHEMERAL.md#notes'
/** Entry type of a person's notes that are no longer in the rolling window, in scope `episodic`. */
export const windowNoteType = 'note'
/** Entry type of a session summary in the rolling window, in scope `short-term` under `session:<session id>`. */
export const sessionSummaryType = 'session-summary'

/** The line with which a session in the rolling window begins. */
export const windowHeading = (sessionId: string, date: string): string => `## Session ${sessionId} — ${date}`
/** Begins the paragraph with the assistant's last answer, for a session in the rolling window. */
export const lastAnswerMark = 'Last answer: '

/** Key of a session's archive. The parts of a long session are counted from 1, and the first has no number. */
export const conversationKey = (sessionId: string, part = 1): string =>
  `conversation:${sessionId}${part > 1 ? `#${part}` : ''}`
export const isConversationKey = (key: string): boolean => key.startsWith('conversation:')
/** Begins the id of a message that its transcript does not name: it is derived from what was said up to there. */
export const derivedIdMark = 'said-'
/** Key of a session in the rolling window. */
export const sessionSummaryKey = (sessionId: string): string => `session:${sessionId}`
/** Key of a session's summary as a person changed it, in scope `episodic`, once it is no longer in the window. */
export const editedSummaryKey = (sessionId: string, id: string): string => `edited-summary:${sessionId}:${id}`
