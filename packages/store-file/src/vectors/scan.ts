import { Instance, Module, type WasmMemory } from './web-assembly.ts'

/**
 * `scan.wat`, assembled; a test assembles it again and compares. WebAssembly's 128-bit vectors compare a query with
 * 100,000 rows in a few milliseconds, with no native code.
 */
const program =
  'AGFzbQEAAAABHwNgCH9/f39/f39/AGAGf39/f39/AGAHf39/f39/fwACDwEDZW52Bm1lbW9yeQIAAQMEAwABAgceAwhtdWx0aXBseQAABnNrZXRjaAABBmRpZmZlcgACCpkDA8IBAwJ/AnsBfwJAA0AgBEUNAf0MAAAAAAAAAAAAAAAAAAAAACEKIAMoAgAgAkkEQCABIAMoAgAgBWxqIQhBACEJA0AgCCAJav0AAAAhCyAAIAlBAXRqIQwgCiAL/YcBIAz9AAQA/boBIAv9iAEgDP0ABBD9ugH9rgH9rgEhCiAJQRBqIQkgCSAGSQ0ACwsgByAK/RsAIAr9GwFqIAr9GwIgCv0bA2pqNgIAIANBBGohAyAHQQRqIQcgBEEBayEEDAALCwtRAQF/AkADQCABRQ0BQQAhBgNAIAUgBkEDdmogACAGav0AAAD9ZDsAACAGQRBqIQYgBiADSQ0ACyAAIAJqIQAgBSAEaiEFIAFBAWshAQwACwsLgAECAn8BfgJAA0AgBEUNASAFQQN0rSEJIAMoAgAgAkkEQCABIAMoAgAgBWxqIQdCACEJQQAhCANAIAkgByAIaikDACAAIAhqKQMAhXt8IQkgCEEIaiEIIAggBUkNAAsLIAYgCac2AgAgA0EEaiEDIAZBBGohBiAEQQFrIQQMAAsLCw=='

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
  /** In how many bits sketches differ from the query's. */
  differ(
    query: number,
    sketches: number,
    there: number,
    slots: number,
    count: number,
    length: number,
    out: number,
  ): void
}

export function createScan(memory: WasmMemory): Scan {
  const compiled = new Module(Buffer.from(program, 'base64'))
  return new Instance(compiled, { env: { memory } }).exports as unknown as Scan
}

/** The assembled program, for the test. */
export const scanProgram = (): string => program
