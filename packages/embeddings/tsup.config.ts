import { library } from '../../tsup.base.ts'
import { placeWasmFiles } from './place-wasm-files.ts'

export default library(
  { index: 'src/index.ts', 'local/index': 'src/local/index.ts', 'local/worker': 'src/local/worker.ts' },
  {
    // Code shared by entries would lie in another folder than the runtime and the thread it looks for.
    splitting: false,
    onSuccess: async () => placeWasmFiles(new URL('./dist/local/', import.meta.url)),
  },
)
