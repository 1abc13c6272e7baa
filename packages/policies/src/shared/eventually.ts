/** Goes on with a value: at once where it is there, so that nobody waits who need not. */
export function eventually<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
