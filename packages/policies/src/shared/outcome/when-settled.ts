/** Calls `next` with a value: synchronously if the value is available, otherwise when its promise is fulfilled. */
export function whenSettled<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
