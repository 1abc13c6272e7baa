/** Error codes of policies that transform bodies. */
export const TRANSFORMATION_ERRORS = {
  GW_TRANSFORM_INPUT: {
    status: 400,
    title: 'Body cannot be transformed',
    when: 'A transformation failed because of the content of the request.',
    remedy: 'Send a body that fits the transformation.',
  },
  GW_TRANSFORM_FAILED: {
    status: 500,
    title: 'Transformation failed',
    when: 'A transformation failed, took too long, or produced too much output.',
    remedy: 'Check the stylesheet or expression, or raise `timeout` or `maxOutputBytes`.',
  },
} as const
