/** Whether patterns without Unicode properties, which are ready at once, say of a text what those with them do. */
export const isAscii = (text: string): boolean => ascii.test(text)

const ascii = /^[\0-\x7f]*$/
