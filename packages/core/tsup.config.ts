import { library } from '../../tsup.base.ts'

export default library({
  index: 'src/index.ts',
  json: 'src/json.ts',
  'ranking/index': 'src/ranking/index.ts',
  'stores/index': 'src/stores/index.ts',
  'text/index': 'src/text/index.ts',
  'protocol/index': 'src/protocol/index.ts',
  opentelemetry: 'src/opentelemetry.ts',
  process: 'src/process/index.ts',
  'conformance/index': 'src/conformance/index.ts',
})
