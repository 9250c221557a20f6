/**
 * Memoizes a function of an object that never changes, such as the fields of an account's catalog. `compute`
 * is called once for each object, when its result is first asked for, and the result is garbage-collected
 * with the object. A process holds many catalogs, and each ends when its account has a newer one. Nothing is
 * remembered of a call that throws.
 */
export function memoize<Key extends object, Result extends object>(
  compute: (key: Key) => Result,
): (key: Key) => Result {
  const results = new WeakMap<Key, Result>()
  return key => {
    let result = results.get(key)
    if (!result) {
      result = compute(key)
      results.set(key, result)
    }
    return result
  }
}
