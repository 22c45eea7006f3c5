/** Key of the outcomes of a pattern that cannot hold them itself. */
export const statisticKeyOf = (pattern: string): string => `statistic:${pattern.replaceAll('#', ':')}`
