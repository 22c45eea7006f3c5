/** Whether a person agreed; without an answer, nobody did. */
export const isYes = (answer: string | null): boolean => /^y(?:es)?$/i.test(answer?.trim() ?? '')
