/**
 * Control sequences of a terminal (ECMA-48), which programs write to colour their output, to move in it or to link it.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one
export const terminalStyles = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g
