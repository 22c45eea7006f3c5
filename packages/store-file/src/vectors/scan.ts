import { Instance, Module, type WasmMemory } from './web-assembly.ts'

/**
 * `scan.wat`, assembled; a test assembles it again and compares. WebAssembly's 128-bit vectors make an exact search
 * of 100,000 rows cheaper than an approximate one would be, with no native code.
 */
const program =
  'AGFzbQEAAAABCgFgBn9/f39/fwACDwEDZW52Bm1lbW9yeQIAAQMCAQAHCAEEc2NhbgAACq0BAaoBAwF/AnsBfwJAA0AgAkUNAf0MAAAAAAAAAAAAAAAAAAAAACEHQQAhBgNAIAEgBmr9AAAAIQggACAGQQF0aiEJIAcgCP2HASAJ/QAEAP26ASAI/YgBIAn9AAQQ/boB/a4B/a4BIQcgBkEQaiEGIAYgBEkNAAsgBSAH/RsAIAf9GwFqIAf9GwIgB/0bA2pqNgIAIAEgA2ohASAFQQRqIQUgAkEBayECDAALCws='

/** Dot products of a query of 16-bit integers with rows of 8-bit ones, in one memory. */
export type Scan = (
  query: number,
  row: number,
  count: number,
  stride: number,
  width: number,
  out: number,
) => void

export function createScan(memory: WasmMemory): Scan {
  const compiled = new Module(Buffer.from(program, 'base64'))
  return new Instance(compiled, { env: { memory } }).exports.scan as Scan
}

/** The assembled program, for the test. */
export const scanProgram = (): string => program
