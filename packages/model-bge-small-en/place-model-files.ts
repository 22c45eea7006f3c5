import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bgeSmallEn } from './src/index.ts'

/** Puts the model beside the built code and proves that every byte is the published model's. */
export async function placeModelFiles(): Promise<void> {
  const dist = new URL('./dist/', import.meta.url)
  for (const [name, file] of [
    ['model_quantized.onnx', bgeSmallEn.weights],
    ['tokenizer.json', bgeSmallEn.tokenizer],
  ] as const) {
    const found = createHash('sha256').update(readFileSync(file.url)).digest('hex')
    if (found !== file.sha256) throw new Error(`${file.url} is not the published ${name}: sha256 ${found}`)
    copyFileSync(file.url, fileURLToPath(new URL(name, dist)))
  }
  writeFileSync(new URL('NOTICE', dist), notice)
}

const notice = `bge-small-en-v1.5, exported to ONNX and quantised to 8 bits.

The model is the work of the Beijing Academy of Artificial Intelligence (BAAI), published under the MIT
licence below. The ONNX export is that of the model's public "Xenova" conversion, byte for byte:
model_quantized.onnx sha256 ${bgeSmallEn.weights.sha256}
tokenizer.json       sha256 ${bgeSmallEn.tokenizer.sha256}

MIT License

Copyright (c) 2022 staoxiao

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
