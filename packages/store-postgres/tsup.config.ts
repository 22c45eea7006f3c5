import { library } from '../../tsup.base.ts'

export default library({
  index: 'src/index.ts',
  postgres: 'src/postgres.ts',
  pglite: 'src/pglite.ts',
})
