import { messageOf } from '@sluice/core'
import type { ControlStore } from './control-store.js'
import { FolderStore } from './folder-store.js'

/** Error of a store that is unavailable, such as a full disk or a database that does not answer. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/**
 * Opens a store: PostgreSQL for a `postgres:` URL, otherwise a folder. Errors of its methods are StoreUnavailable.
 * @throws StoreUnavailable if it cannot be opened
 */
export async function openStore(location: string): Promise<ControlStore> {
  const opening = /^postgres(ql)?:/.test(location) ? openPostgres(location) : FolderStore.open(location)
  return withStoreErrors(await opening.catch(unavailable))
}

/** Loads the driver only for controllers that need it. */
async function openPostgres(url: string): Promise<ControlStore> {
  const { PostgresStore } = await import('./postgres-store.js')
  return PostgresStore.open(url)
}

function withStoreErrors(store: ControlStore): ControlStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args)
        return result instanceof Promise ? result.catch(unavailable) : result
      }
    },
  })
}

function unavailable(cause: unknown): never {
  throw new StoreUnavailable(messageOf(cause), { cause })
}
