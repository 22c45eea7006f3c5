/** The part of WebAssembly used here. Every runtime has it, but TypeScript's types know it only from browsers. */
export const { Instance, Memory, Module } = (globalThis as unknown as { WebAssembly: WebAssemblyApi })
  .WebAssembly

export interface WasmMemory {
  readonly buffer: ArrayBuffer
  /** Adds pages of 65,536 bytes. */
  grow(pages: number): number
}

interface WebAssemblyApi {
  Memory: new (descriptor: { initial: number }) => WasmMemory
  Module: new (bytes: Uint8Array) => object
  Instance: new (
    module: object,
    imports: { env: { memory: WasmMemory } },
  ) => { readonly exports: Record<string, unknown> }
}
