import type { Static } from '@sinclair/typebox'
import {
  list,
  optionalClosed,
  optionalDuration,
  optionalFile,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

const text = { minLength: 1, maxLength: 4096 }
const attribute = { minLength: 1, maxLength: 256, pattern: '^[A-Za-z][A-Za-z0-9;.-]*$' }

function scope() {
  return optionalOneOf(['base', 'one', 'sub'], 'The base itself, its children, or all below it.', 'sub')
}

/** The configuration of `ldap`. */
export const ldapSchema = policyOptions(
  {
    urls: list(
      string('`ldaps://host:636` or `ldap://host:389`.', {
        ...text,
        pattern: '^ldaps?://[^/?#@]+/?$',
        destination: true,
      }),
      'The directory, and those to ask where it cannot be reached, in this order.',
      { minItems: 1, maxItems: 10 },
    ),
    tls: optionalClosed('How connections are protected.', {
      startTls: optionalFlag(
        false,
        'For `ldap://`: changes to TLS before anything else is said (RFC 4511, 4.14).',
      ),
      caFile: optionalFile('The authorities of the directory’s certificate, PEM. Default: those of Node.js.'),
      serverName: optionalString('The name in its certificate. Default: the host.', {
        ...text,
        maxLength: 253,
      }),
      certFile: optionalFile('The certificate of the gateway, PEM.'),
      keyFile: optionalFile('Its key, PEM.'),
      allowPlaintext: optionalFlag(
        false,
        'Lets passwords go over the network in clear, to a host that is not this one.',
      ),
    }),
    userDn: optionalString(
      'What users bind with: `uid={{username}},ou=people,dc=example,dc=org`, or for Active Directory `{{username}}@example.org`. Absent: the entry that `userFilter` finds.',
      text,
    ),
    userBase: optionalString('Below which entry `userFilter` looks for users.', text),
    userScope: scope(),
    userFilter: optionalString(
      'Finds the entry of a user (RFC 4515): `(&(objectClass=person)(uid={{username}}))`. It has to find one.',
      text,
    ),
    bind: optionalClosed(
      'The account that searches. Absent: nobody (anonymous), and behind `userDn` the user.',
      {
        dn: string('Its name.', text),
        password: string('Its password.', { secret: true, minLength: 1, maxLength: 1024 }),
      },
    ),
    groups: optionalClosed('Looks for the groups of a user.', {
      base: string('Below which entry.', text),
      scope: scope(),
      filter: optionalString('Finds the groups of the entry `{{dn}}`, or of the name `{{username}}`.', {
        default: '(member={{dn}})',
        ...text,
      }),
      attribute: optionalString('What is the name of a group.', { default: 'cn', ...attribute }),
      nested: optionalFlag(
        false,
        'Also the groups of these groups, up to 10 levels; groups above them do not count. The filter has to name `{{dn}}`.',
      ),
    }),
    attributes: optionalClosed('What is read out of the entry of a user.', {
      id: optionalString('The id of the consumer; it has to stand there once.', {
        default: 'uid',
        ...attribute,
      }),
      name: optionalString('The name of the consumer. Default: the id.', attribute),
      groups: optionalString(
        'Groups that stand in the entry, such as `memberOf`: names, or distinguished names of which the first value counts.',
        attribute,
      ),
      claims: optionalList(
        string('An attribute.', attribute),
        'What becomes `consumer.claims`; several values are joined by commas.',
        { maxItems: 50, uniqueItems: true },
      ),
    }),
    realm: optionalString('The protection space that the challenge names.', {
      default: 'Restricted',
      maxLength: 256,
    }),
    stripCredentials: optionalFlag(true, 'Removes `authorization` before the upstream sees the request.'),
    maxFailuresPerMinute: optionalInteger(
      'Failed attempts of one client address on these users, per worker and for all uses with the same users, after which further attempts are answered 429 `GW_RATE_LIMITED` for the rest of the minute, before the directory counts them. If the attempts in progress could use up the rest, further ones are answered 503 `GW_AUTH_OVERLOADED`.',
      { minimum: 1, maximum: 1_000_000 },
    ),
    cache: optionalClosed(
      'What is remembered of logins, as HMAC under keys that live in the memory of the gateway only.',
      {
        scope: optionalOneOf(
          ['worker', 'gateway'],
          'Who remembers: each worker for itself, or all workers together, so that one of them asks about a login.',
          'gateway',
        ),
        ttl: optionalDuration('How long a login needs no other. 0s: not at all.', '60s'),
        negativeTtl: optionalDuration('How long a refused login is refused without asking.', '10s'),
        maxEntries: optionalInteger('Most logins, per worker; those that were used longest ago go first.', {
          default: 10_000,
          minimum: 1,
          maximum: 1_000_000,
        }),
        staleIfError: optionalDuration(
          'How long after its `ttl` a login still counts while the directory is down.',
          '0s',
        ),
      },
    ),
    pool: optionalClosed('Connections to the directory, per worker.', {
      max: optionalInteger('Most at a time; 256 logins wait for one.', {
        default: 10,
        minimum: 1,
        maximum: 1000,
      }),
      idle: optionalDuration('How long an unused one is kept.', '60s'),
    }),
    timeouts: optionalClosed('How long is waited.', {
      connect: optionalDuration('For a connection, TLS included.', '1s'),
      operation: optionalDuration('For the answer to one request, and for a free connection.', '2s'),
    }),
  },
  [
    'Asks for a user name and a password with the Basic scheme (RFC 7617). Without them the answer is 401 `GW_AUTH_MISSING`, with wrong ones 401 `GW_AUTH_INVALID`. An empty password is refused before the directory is asked: many directories treat it as an unauthenticated bind (RFC 4513, 5.1.2). While the directory is down, does not answer in time or answers nonsense: 503 `GW_AUTH_UNAVAILABLE`, and event `ldap_down` in the gateway’s log. A login is refused with 401, and event `ldap_login_refused` says why, if the filter finds several entries, the entry does not have exactly one `attributes.id`, or the user is in more than 1,000 groups.',
    'Equal logins that come at the same time are one. The user name is escaped wherever it is put (RFC 4514, RFC 4515). Referrals are not followed. A password that has changed counts after `cache.ttl`.',
  ],
)

/** The configuration of `ldap`. */
export type LdapConfig = Static<typeof ldapSchema>
