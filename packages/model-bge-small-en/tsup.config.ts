import { library } from '../../tsup.base.ts'
import { placeModelFiles } from './place-model-files.ts'

export default library({ index: 'src/index.ts' }, { onSuccess: placeModelFiles })
