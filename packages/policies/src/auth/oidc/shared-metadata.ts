import type { StateStore } from '@sluice/core'
import { singleFlight } from '../../shared/call/single-flight.js'
import type { ProviderMetadata } from './provider.js'

/** Options for `fetchMetadataOnce`. */
export interface SharedMetadataOptions {
  /** The gateway's own store, never a cluster's. Anyone with write access to it could redirect logins. */
  readonly store: StateStore
  /** Key of the metadata, unique per address. */
  readonly name: string
  /** Time that other workers wait for the fetching worker, in milliseconds. */
  readonly waitMs: number
  /** Maximum age of metadata from another worker, in milliseconds. */
  readonly freshMs: number
  /** Fetches the metadata from the provider. */
  fetch(): Promise<Uint8Array>
  /** Parses the metadata. @throws Error for unusable metadata. */
  read(body: Uint8Array): ProviderMetadata
}

/**
 * Returns a function that fetches provider metadata once per gateway. Every worker parses the shared response
 * itself.
 */
export function fetchMetadataOnce(options: SharedMetadataOptions): () => Promise<ProviderMetadata> {
  const { store, name, waitMs, freshMs, fetch, read } = options
  const find = async (): Promise<ProviderMetadata | null> => {
    const body = await store.get(name)
    try {
      return body === null ? null : read(body)
    } catch {
      return null
    }
  }
  return () => {
    let isKept = false
    const ask = async (): Promise<ProviderMetadata> => {
      const body = await fetch()
      const metadata = read(body)
      isKept = await store.set(name, body, freshMs).catch(() => false)
      return metadata
    }
    return singleFlight({ store, key: name, waitMs, find, ask, isKept: () => isKept })
  }
}
