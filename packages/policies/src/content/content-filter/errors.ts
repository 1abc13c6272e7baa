/** Error codes of `content-filter`. */
export const CONTENT_FILTER_ERRORS = {
  GW_CONTENT_BLOCKED: {
    status: 403,
    title: 'Content not allowed',
    when: 'A rule of `content-filter` matched. The log names the rule.',
    remedy: 'Change the content, or exclude the field from the rule that the log names.',
  },
} as const
