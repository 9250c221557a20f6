/**
 * Memoizes a function of an immutable object, such as the fields of an account's catalog. `compute` is called
 * once for each object, when its result is first needed, and the result is garbage-collected with the object:
 * a process holds many catalogs, and each ends when its account has a newer one. A call that throws is not
 * memoized.
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
