import { mkdirSync } from 'node:fs'
import { library } from '../../tsup.base.ts'
import { placeWasmFiles } from './src/local/runtime.ts'

export default library(
  { index: 'src/index.ts', 'local/index': 'src/local/index.ts', 'local/worker': 'src/local/worker.ts' },
  {
    // Code shared by entries would lie in another folder than the runtime and the thread it looks for.
    splitting: false,
    async onSuccess() {
      const folder = new URL('./dist/local/onnxruntime/', import.meta.url)
      mkdirSync(folder, { recursive: true })
      placeWasmFiles(folder)
    },
  },
)
