import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AddressRule } from '@sluice/core'

/**
 * Finds those addresses of a name that connections may go to. It is asked for each connection and what it answers is what
 * the connection goes to, so a name that changes its address in between (DNS rebinding) gains nothing by that.
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

/** A name has no address that connections may go to. */
class AddressRefused extends Error {
  readonly code = 'GW_ADDRESS_REFUSED'
}
