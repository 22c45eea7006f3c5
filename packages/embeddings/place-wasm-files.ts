import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'
import { packedBinary, wasmFiles, wasmFolder } from './src/local/runtime.ts'

/** Puts the WebAssembly build of ONNX Runtime beside the built code that runs it. */
export function placeWasmFiles(built: URL): void {
  const source = wasmFolder()
  const folder = new URL('./onnxruntime/', built)
  mkdirSync(folder, { recursive: true })
  for (const name of wasmFiles.scripts) copyFileSync(new URL(name, source), new URL(name, folder))
  // The next higher level takes half a minute for a sixth less.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 }
  const packed = brotliCompressSync(readFileSync(new URL(wasmFiles.binary, source)), { params })
  writeFileSync(new URL(packedBinary, folder), packed)
  writeFileSync(new URL('NOTICE', folder), notice)
}

const notice = `The files in this folder are ONNX Runtime, published under the MIT licence below.

MIT License

Copyright (c) Microsoft Corporation

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE
USE OR OTHER DEALINGS IN THE SOFTWARE.
`
