/** Puts which key it is in front of what is wrong with it. */
export function about<T>(what: string, action: () => T): T {
  try {
    return action()
  } catch (cause) {
    throw new Error(`${what} ${(cause as Error).message}`, { cause })
  }
}

/** What a key of the configuration is called in messages. */
export function keyName(i: number, { kid }: { readonly kid?: string }): string {
  return `key ${i + 1}${kid === undefined ? '' : ` ('${kid}')`}`
}
