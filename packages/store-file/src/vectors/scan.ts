import { Instance, Module, type WasmMemory } from './web-assembly.ts'

/**
 * `scan.wat`, assembled; a test assembles it again and compares. WebAssembly's 128-bit vectors compare a query with
 * 100,000 rows in a few milliseconds, without native code.
 */
const program =
  'AGFzbQEAAAABMQZgCH9/f39/f39/AGACf38Bf2ABewF/YAZ/f39/f38AYAd/f39/f39/AGADf39/AX8CDwEDZW52Bm1lbW9yeQIAAQMHBgABAgMEBQcnBAhtdWx0aXBseQAABnNrZXRjaAADBmRpZmZlcgAEBmNob29zZQAFCpkFBrsCAgZ/BXsgAyAEQQJ0aiEIAkADQCADIAhPDQEgA0EEaiEJIAkgCE8EQCADIQkLIAEgAygCACACEAEgBWxqIQogASAJKAIAIAIQASAFbGohC/0MAAAAAAAAAAAAAAAAAAAAACER/QwAAAAAAAAAAAAAAAAAAAAAIRJBACEMA0AgACAMQQF0aiENIA39AAQAIQ4gDf0ABBAhDyAKIAxq/QAAACEQIBEgEP2HASAO/boBIBD9iAEgD/26Af2uAf2uASERIAsgDGr9AAAAIRAgEiAQ/YcBIA79ugEgEP2IASAP/boB/a4B/a4BIRIgDEEQaiEMIAwgBkkNAAsgByAREAJBACADKAIAIAJJGzYCACAJIANHBEAgByASEAJBACAJKAIAIAJJGzYCBAsgA0EIaiEDIAdBCGohBwwACwsLDAAgAEEAIAAgAUkbCxkAIAD9GwAgAP0bAWogAP0bAiAA/RsDamoLUQEBfwJAA0AgAUUNAUEAIQYDQCAFIAZBA3ZqIAAgBmr9AAAA/WQ7AAAgBkEQaiEGIAYgA0kNAAsgACACaiEAIAUgBGohBSABQQFrIQEMAAsLC58BAgN/An4CQANAIARFDQEgBUEDdK0hCkIAIQsgAygCACACSQRAIAEgAygCACAFbGohB0IAIQpBACEIA0AgByAIaiEJIAogCSkDACAAIAhqKQMAhXt8IQogCyAJKQMIIAAgCGopAwiFe3whCyAIQRBqIQggCCAFSQ0ACwsgBiAKIAt8pzYCACADQQRqIQMgBkEEaiEGIARBAWshBAwACwsLQAEDfwJAA0AgAyABTw0BIAAgA0ECdGooAgAgAk0hBSAAIARBAnRqIAM2AgAgBCAFaiEEIANBAWohAwwACwsgBAs='

/** Compares a query with rows in one memory; all arguments are addresses or counts, as `scan.wat` says. */
export interface Scan {
  /** Dot products of a query of 16-bit integers with rows of 8-bit ones. */
  multiply(
    query: number,
    rows: number,
    there: number,
    slots: number,
    count: number,
    stride: number,
    width: number,
    out: number,
  ): void
  /** The sketches of rows: the signs of their integers. */
  sketch(row: number, count: number, stride: number, width: number, length: number, out: number): void
  /** The number of bits in which each sketch differs from the query's. */
  differ(
    query: number,
    sketches: number,
    there: number,
    slots: number,
    count: number,
    length: number,
    out: number,
  ): void
  /** Overwrites some numbers with the positions of those that are at most `most`, and returns how many there are. */
  choose(numbers: number, count: number, most: number): number
}

export function createScan(memory: WasmMemory): Scan {
  const compiled = new Module(Buffer.from(program, 'base64'))
  return new Instance(compiled, { env: { memory } }).exports as unknown as Scan
}

/** The assembled program, for the test. */
export const scanProgram = (): string => program
