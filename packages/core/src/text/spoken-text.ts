/**
 * The text of a turn without its speaker heading, for embedding: a heading that every turn shares would make their
 * vectors alike. The speaker is still found by the unit's label.
 */
export const spokenText = (text: string): string => text.replace(/^### (?:User|Assistant)\n\s*/, '')
