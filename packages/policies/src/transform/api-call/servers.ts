import { isIP } from 'node:net'
import { type CompileEnv, type HttpClient, isMetadataAddress, parseSize } from '@sluice/core'
import { callOptions } from '../../shared/call/call-options.js'
import { type Address, originOf } from './address.js'
import type { CallConfig } from './schema.js'

/**
 * Opens the HTTP clients of a call, keyed by origin. @throws Error if an origin, a duration or an address is
 * invalid.
 */
export function openServers(
  config: CallConfig,
  address: Address,
  env: CompileEnv,
): ReadonlyMap<string, HttpClient> {
  const { origins } = config
  if (address.origin !== null) {
    if (origins !== undefined)
      throw new Error("'origins' is only for a placeholder in the host of 'url'; remove it")
    return new Map([[address.origin, open(address.origin, config, env)]])
  }
  if (origins === undefined)
    throw new Error("a placeholder in the host of 'url' needs 'origins', the list of allowed servers")
  return new Map(origins.map((text) => [originOf(text), open(originOf(text), config, env)]))
}

function open(origin: string, config: CallConfig, env: CompileEnv): HttpClient {
  const { timeout, maxResponseBytes, tls } = config
  return env.httpClient({
    origin,
    ...callOptions({ timeout, tls }),
    maxResponseBytes: parseSize(maxResponseBytes),
    addresses: allowedAddresses(origin, config),
  })
}

/**
 * An address written in `url` is allowed implicitly, except for cloud metadata addresses, which must be
 * listed.
 */
function allowedAddresses(origin: string, { allowAddresses = [] }: CallConfig): readonly string[] {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 || isMetadataAddress(host) ? allowAddresses : [...allowAddresses, host]
}
