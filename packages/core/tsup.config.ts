import { library } from '../../tsup.base.ts'

export default library({
  index: 'src/index.ts',
  'protocol/index': 'src/protocol/index.ts',
  opentelemetry: 'src/opentelemetry.ts',
  process: 'src/process/index.ts',
  'conformance/index': 'src/conformance/index.ts',
})
