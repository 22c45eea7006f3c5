/** The months of a year, in English. */
export const monthNames =
  'January February March April May June July August September October November December'.split(' ')
