/** An error that the server itself sends: `{"error": text}`. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws {ApiError} unless a request is as the server demands */
export function demand(isRight: boolean, message: string, status = 422): asserts isRight {
  if (!isRight) throw new ApiError(status, message);
}

/** The error of a statement that takes too long. */
export function timeout(): ApiError {
  return new ApiError(500, 'timeout: context deadline exceeded');
}
