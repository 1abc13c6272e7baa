import type * as Sluice from '@sluice/core'

const DAY = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'

/** Announces the deprecation of an API and its end date. Rejects requests after that date. */
// biome-ignore lint/style/noDefaultExport: the gateway imports it
export default function plugin({ appendHeader, definePolicy, setHeader, Type }: typeof Sluice) {
  return definePolicy({
    name: 'deprecation',
    summary: 'Announces the deprecation of an API, and rejects its requests after the sunset date.',
    schema: Type.Object(
      {
        since: Type.String({ pattern: DAY, description: 'The deprecation date, e.g. `2026-06-01`.' }),
        sunset: Type.Optional(
          Type.String({ pattern: DAY, description: 'The first day on which requests get 410.' }),
        ),
        guide: Type.Optional(
          Type.String({
            pattern: '^https://[^<>\\s]+$',
            maxLength: 2000,
            description: 'The URL of a migration guide for clients.',
          }),
        ),
      },
      {
        additionalProperties: false,
        description: 'Responses have the headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`.',
      },
    ),
    compile({ since, sunset, guide }, env) {
      const sinceMs = timeOf('since', since)
      const sunsetMs = sunset === undefined ? Number.POSITIVE_INFINITY : timeOf('sunset', sunset)
      if (sunsetMs < sinceMs) throw new Error(`'sunset' ${sunset} is before 'since' ${since}`)
      const link = guide === undefined ? null : `<${guide}>; rel="deprecation"`
      const fields = ['deprecation', `@${sinceMs / 1000}`]
      if (sunset !== undefined) fields.push('sunset', new Date(sunsetMs).toUTCString())
      const more = link === null ? '' : `; see ${guide}`
      const refused = env.refusal('GW_POLICY_REFUSED', `this API has ended on ${sunset}${more}`, [
        ...fields,
        ...(link === null ? [] : ['link', link]),
      ])
      const gone = { ...refused, status: 410 }
      return {
        name: 'deprecation',
        onRequest: (x) => (x.startedAt >= sunsetMs ? gone : null),
        onResponse(x) {
          for (let i = 0; i < fields.length; i += 2) setHeader(x.responseHeaders, fields[i]!, fields[i + 1]!)
          if (link !== null) appendHeader(x.responseHeaders, 'link', link)
          return null
        },
      }
    },
  })
}

function timeOf(name: string, day: string): number {
  const time = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(time)) throw new Error(`'${name}' ${day} is not a day`)
  return time
}
