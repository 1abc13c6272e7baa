import { definePolicy, type Exchange, headerCount, headerValue, removeHeader, setHeader } from '@sluice/core'
import { fieldName } from '../../shared/message/field-name.js'
import { idMaker } from './id-maker.js'
import { requestIdSchema } from './schema.js'

const ACCEPTED = /^[A-Za-z0-9._:-]{1,128}$/

/** The `request-id` policy. Adds a second request id in a header of the operator's choice. */
export const requestId = definePolicy({
  name: 'request-id',
  summary: 'Adds a request id in a header field of your choice to requests and responses.',
  schema: requestIdSchema,
  compile({ header, format, trustIncoming, echo }, env) {
    const name = fieldName('request', header)
    if (name === 'x-request-id') {
      throw new Error("every request already has 'x-request-id': choose another name, or remove the policy")
    }
    const make = idMaker(format)
    const ids = env.slot<string>()
    return {
      name: 'request-id',
      onRequest(x) {
        const id = (trustIncoming ? incoming(x, name) : null) ?? make(x)
        setHeader(x.headers, name, id)
        if (echo) ids.set(x, id)
        return null
      },
      ...(echo && {
        onResponse(x) {
          const id = ids.get(x)
          if (id === undefined) removeHeader(x.responseHeaders, name)
          else setHeader(x.responseHeaders, name, id)
          return null
        },
      }),
    }
  },
})

function incoming(x: Exchange, name: string): string | null {
  const id = headerValue(x.headers, name)
  return id !== null && headerCount(x.headers, name) === 1 && ACCEPTED.test(id) ? id : null
}
