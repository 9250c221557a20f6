/** Values of records as the settings read them. Pure. */

/** A list of texts; empty if the value is none. */
export const stringsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? (value as string[]) : []

/** True for the option Yes of fields such as `is_active` and `is_default`: 1 is Yes, 2 is No. */
export const isYes = (value: unknown): boolean => value === 1
