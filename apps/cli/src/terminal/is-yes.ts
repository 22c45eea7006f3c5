/** Whether a person agreed; a missing answer means no. */
export const isYes = (answer: string | null): boolean => /^y(?:es)?$/i.test(answer?.trim() ?? '')
