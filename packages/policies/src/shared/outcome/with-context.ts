import { messageOf } from '@sluice/core'
/** Runs `action` and prefixes the message of its error with `what`. @throws Error */
export function withContext<T>(what: string, action: () => T): T {
  try {
    return action()
  } catch (cause) {
    throw new Error(`${what} ${messageOf(cause)}`, { cause })
  }
}
