/**
 * What the vector of a turn is made of: who speaks is in its label, and said of every turn it would make all turns
 * alike.
 */
export const spokenText = (text: string): string => text.replace(/^### (?:User|Assistant)\n\s*/, '')
