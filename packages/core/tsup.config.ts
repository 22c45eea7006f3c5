import { library } from '../../tsup.base.ts'

export default library({
  index: 'src/index.ts',
  'conformance/index': 'src/conformance/index.ts',
})
