// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/

/** Whether a text holds a control character of ASCII or Latin-1 (C0, DEL, C1), which no key and no tag may. */
export const hasControlCharacter = (text: string): boolean => controlCharacter.test(text)
