import type { Database } from '@recall/store-postgres'

type Send = (text: string, ...rest: unknown[]) => Promise<unknown>

/** A database of which some statements are under somebody's hand. */
export function gated(
  database: Database,
  statements: RegExp,
  around: (send: () => Promise<unknown>) => Promise<unknown>,
): Database {
  const wrap = <T extends object>(target: T, names: string[], made: (of: unknown) => unknown): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name)
        if (value !== undefined && names.includes(String(name))) return made(value)
        return typeof value === 'function' ? value.bind(of) : value
      },
    })
  return wrap(database, ['$client'], (client) =>
    wrap(client as object, ['query', 'unsafe'], (send) => (text: string, ...rest: unknown[]) => {
      const call = () => (send as Send).call(client, text, ...rest)
      return statements.test(text) ? around(call) : call()
    }),
  )
}

export function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}
