import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AddressRule } from '@sluice/core'

/**
 * Restricts a lookup to the addresses that connections may use. The check runs for each connection, on the very address
 * that is used, so changing the address in between (DNS rebinding) has no effect.
 */
export function guardedLookup(lookup: LookupFunction, mayCall: AddressRule): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        done(error, [])
        return
      }
      const addresses = (found as LookupAddress[]).filter(({ address }) => mayCall(address))
      const [first] = addresses
      if (first === undefined) done(new AddressRefused(), [])
      else if (options.all) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}

/** None of the name's addresses is allowed. */
class AddressRefused extends Error {
  readonly code = 'GW_ADDRESS_REFUSED'
}
