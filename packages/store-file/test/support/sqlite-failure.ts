/** An error as a driver of SQLite throws it, with the code or, as some queries do, without. */
export const sqliteFailure = (message: string, errcode?: number): Error =>
  Object.assign(new Error(message), {
    code: 'ERR_SQLITE_ERROR',
    ...(errcode === undefined ? {} : { errcode }),
  })
