import type { StateStore } from '@sluice/core'
import { singleFlight } from '../../shared/single-flight.js'
import type { ProviderMetadata } from './provider.js'

export interface MetadataOfGatewayOptions {
  /** Of the gateway, never of a cluster: whoever could write into it could send users to log in elsewhere. */
  readonly store: StateStore
  /** Another name for metadata of another place. */
  readonly name: string
  /** How long others wait for the worker that fetches, ms. */
  readonly waitMs: number
  /** Age up to which metadata of another worker are taken, ms. */
  readonly freshMs: number
  /** Asks the provider. Rejects with any Error. */
  fetch(): Promise<Uint8Array>
  /** @throws Error for metadata that cannot be used. */
  read(body: Uint8Array): ProviderMetadata
}

/** The metadata of a provider, fetched by one worker for all of a gateway; each reads them as if it had fetched them. */
export function fetchMetadataOnce(options: MetadataOfGatewayOptions): () => Promise<ProviderMetadata> {
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
