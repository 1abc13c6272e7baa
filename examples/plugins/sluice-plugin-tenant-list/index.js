import { readFileSync, statSync } from 'node:fs'

/** Larger files are lists of something else. */
const MAX_BYTES = 1024 * 1024

/** Tells the upstream which tenant a request is of. The list is shared by all routes that name the same file. */
export default ({ parseDuration, removeHeader, setHeader }) => ({
  name: 'tenant-list',
  summary: 'Says in a field which tenant a request is of, by its host, from a list in a file.',
  schema: {
    type: 'object',
    description: 'A line of the file is a host and its tenant. Clients cannot send the field themselves.',
    additionalProperties: false,
    required: ['file'],
    properties: {
      file: { type: 'string', minLength: 1, path: true, description: 'The list.' },
      field: {
        type: 'string',
        pattern: '^[a-z][a-z0-9-]{0,63}$',
        default: 'x-tenant',
        description: 'The field, in lower case.',
      },
      unknown: {
        enum: ['refuse', 'pass'],
        default: 'refuse',
        description: 'What becomes of requests for other hosts.',
      },
      every: {
        type: 'string',
        pattern: '^[1-9][0-9]{0,4}s$',
        default: '60s',
        description: 'How often the file is read again.',
      },
    },
  },
  compile({ file, field, unknown, every }, env) {
    const list = env.shared(`tenant-list:${file}`, () => ({ tenants: readList(file) }))
    const refused = env.refusal('GW_POLICY_REFUSED', 'no tenant has this host; check the address')
    env.schedule(parseDuration(every), () => {
      try {
        list.tenants = readList(file)
      } catch (error) {
        // The list that was read last goes on to count.
        env.report('tenant_list_unreadable', { file, error: error.message })
      }
    })
    return {
      name: 'tenant-list',
      onRequest(x) {
        const tenant = list.tenants.get(x.host)
        if (tenant !== undefined) setHeader(x.headers, field, tenant)
        else if (unknown === 'refuse') return refused
        else removeHeader(x.headers, field)
        return null
      },
    }
  },
})

function readList(file) {
  if (statSync(file).size > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES} bytes`)
  const tenants = new Map()
  for (const [i, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) continue
    const [host, tenant, ...rest] = text.split(/\s+/)
    if (tenant === undefined || rest.length > 0 || !/^[\w.-]+$/.test(tenant))
      throw new Error(`line ${i + 1} of the list is not a host and a tenant`)
    tenants.set(host.toLowerCase(), tenant)
  }
  return tenants
}
