/** A key that names no section of a markdown file, such as `runbook.md#deploy`: a section holds text only. */
const outsideSections = (key: string): string => key.replaceAll('#', ':')

/** Key of a lesson with an id of its own. */
export const lessonKeyOf = (id: string): string => outsideSections(`lesson:${id}`)

/** Key of the outcomes of a tool, as `tool:<name>`, or of a pattern that cannot hold them itself. */
export const statisticKeyOf = (name: string): string => outsideSections(`statistic:${name}`)
