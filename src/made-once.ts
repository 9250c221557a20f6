/**
 * What is made of something that never changes, such as the fields of an account's catalog: made when it is
 * first asked for, and kept as long as that is. A process holds many catalogs, and each ends when its account
 * has a newer one. What was made of it ends with it, and the catalog need not know who makes what.
 */
export function madeOnce<Of extends object, Made extends object>(make: (of: Of) => Made): (of: Of) => Made {
  const known = new WeakMap<Of, Made>()
  return of => {
    let made = known.get(of)
    if (!made) {
      made = make(of)
      known.set(of, made)
    }
    return made
  }
}
