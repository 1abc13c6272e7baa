import type { Static } from '@sinclair/typebox'
import * as field from '../../shared/options/options.js'

const text = { minLength: 1, maxLength: 4096 }
const attribute = { minLength: 1, maxLength: 256, pattern: '^[A-Za-z][A-Za-z0-9;.-]*$' }

function scope() {
  return field.optionalOneOf(
    ['base', 'one', 'sub'],
    'Search scope: the base entry, its children, or the whole subtree.',
    'sub',
  )
}

/** Schema of the configuration of `ldap`. */
export const ldapSchema = field.policyOptions(
  {
    urls: field.list(
      field.string('`ldaps://host:636` or `ldap://host:389`.', {
        ...text,
        pattern: '^ldaps?://[^/?#@]+/?$',
        destination: true,
      }),
      'Directory servers in order of preference. Later ones are used if earlier ones are unreachable.',
      { minItems: 1, maxItems: 10 },
    ),
    tls: field.optionalClosed(
      'TLS settings of connections.',
      {
        startTls: field.optionalFlag(
          false,
          'Switches `ldap://` connections to TLS before any other request (StartTLS, RFC 4511, 4.14).',
        ),
        caFile: field.optionalFile('Trusted certificate authorities (PEM). Default: those of Node.js.'),
        servername: field.optionalString('Expected name in the server certificate. Default: the host.', {
          ...text,
          maxLength: 253,
        }),
        certFile: field.optionalFile('Client certificate of the gateway (PEM).'),
        keyFile: field.optionalFile('Private key of the client certificate (PEM).'),
        allowPlaintext: field.optionalFlag(false, 'Allows sending passwords to other hosts without TLS.'),
      },
      { deprecatedKeys: { serverName: 'servername' } },
    ),
    userDn: field.optionalString(
      'Name that users bind with: `uid={{username}},ou=people,dc=example,dc=org`, or `{{username}}@example.org` for Active Directory. Default: the entry that `userFilter` finds.',
      text,
    ),
    userBase: field.optionalString('Base entry of the search with `userFilter`.', text),
    userScope: scope(),
    userFilter: field.optionalString(
      'Filter that finds the entry of a user (RFC 4515): `(&(objectClass=person)(uid={{username}}))`. It must match exactly one entry.',
      text,
    ),
    bind: field.optionalClosed(
      'Account used for searches. Default: anonymous, or the user if `userDn` is set.',
      {
        dn: field.string('DN of the account.', text),
        password: field.string('Password of the account.', { secret: true, minLength: 1, maxLength: 1024 }),
      },
    ),
    groups: field.optionalClosed('Searches for the groups of a user.', {
      base: field.string('Base entry of the search.', text),
      scope: scope(),
      filter: field.optionalString(
        'Filter that finds the groups of the entry `{{dn}}` or of the user name `{{username}}`.',
        { default: '(member={{dn}})', ...text },
      ),
      attribute: field.optionalString('Attribute with the name of a group.', { default: 'cn', ...attribute }),
      nested: field.optionalFlag(
        false,
        'Includes groups that contain these groups, up to 10 levels. The filter must contain `{{dn}}`.',
      ),
    }),
    attributes: field.optionalClosed("Attributes of the user's entry to read.", {
      id: field.optionalString('Attribute with the consumer id. It must have exactly one value.', {
        default: 'uid',
        ...attribute,
      }),
      name: field.optionalString('Attribute with the consumer name. Default: the id.', attribute),
      groups: field.optionalString(
        'Attribute with groups, such as `memberOf`. Its values are group names, or DNs whose first value is used.',
        attribute,
      ),
      claims: field.optionalList(
        field.string('An attribute name.', attribute),
        'Attributes to add to `consumer.claims`. Multiple values are joined with commas.',
        { maxItems: 50, uniqueItems: true },
      ),
    }),
    realm: field.optionalString('Protection space named in the challenge.', {
      default: 'Restricted',
      maxLength: 256,
    }),
    stripCredentials: field.optionalFlag(
      true,
      'Removes `authorization` before the request is sent upstream.',
    ),
    maxFailuresPerMinute: field.optionalInteger(
      'Maximum number of failed attempts per client address and minute, counted per worker for all uses with the same users. After that, attempts get 429 `GW_RATE_LIMITED` for the rest of the minute and do not reach the directory. If attempts in progress could exceed the limit, further ones get 503 `GW_AUTH_OVERLOADED`.',
      { minimum: 1, maximum: 1_000_000 },
    ),
    cache: field.optionalClosed(
      "Cache of logins. They are stored as an HMAC with keys that exist only in the gateway's memory.",
      {
        scope: field.optionalOneOf(
          ['worker', 'gateway'],
          'Cache scope: each worker separately, or all workers together, so that one of them asks the directory.',
          'gateway',
        ),
        ttl: field.optionalDuration(
          'Time for which a successful login is cached. 0s disables the cache.',
          '60s',
        ),
        negativeTtl: field.optionalDuration('Time for which a refused login is cached.', '10s'),
        maxEntries: field.optionalInteger(
          'Maximum number of logins per worker. The least recently used ones are removed first.',
          { default: 10_000, minimum: 1, maximum: 1_000_000 },
        ),
        staleIfError: field.optionalDuration(
          'Time after `ttl` in which a login is still accepted while the directory is down.',
          '0s',
        ),
      },
    ),
    pool: field.optionalClosed('Connections to the directory, per worker.', {
      max: field.optionalInteger('Maximum number of connections. Up to 256 logins wait for a free one.', {
        default: 10,
        minimum: 1,
        maximum: 1000,
      }),
      idle: field.optionalDuration('Time for which an idle connection is kept open.', '60s'),
    }),
    timeouts: field.optionalClosed('Timeouts of the directory.', {
      connect: field.optionalDuration('Timeout for opening a connection, including TLS.', '1s'),
      operation: field.optionalDuration(
        'Timeout for the response to one request, and for a free connection.',
        '2s',
      ),
    }),
  },
  [
    'Uses the Basic scheme (RFC 7617). Missing credentials get 401 `GW_AUTH_MISSING`, wrong ones 401 `GW_AUTH_INVALID`. An empty password is refused without asking the directory, because many directories treat it as an unauthenticated bind (RFC 4513, 5.1.2). If the directory is down, too slow or sends invalid responses, requests get 503 `GW_AUTH_UNAVAILABLE`, and the gateway logs the event `ldap_down`. Some logins are refused with 401 and the event `ldap_login_refused`: the filter matches several entries, the entry does not have exactly one `attributes.id`, or the user is in more than 1,000 groups.',
    'Concurrent identical logins are coalesced into one. The user name is always escaped (RFC 4514, RFC 4515). Referrals are not followed. A changed password takes effect after `cache.ttl`.',
  ],
)

/** Configuration of `ldap`, derived from its schema. */
export type LdapConfig = Static<typeof ldapSchema>
