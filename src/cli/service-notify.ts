import { execFile } from 'node:child_process';

/** Notifies systemd of the state of a service, by `systemd-notify`; does nothing outside of a unit with `Type=notify`. */
export class ServiceNotify {
  #timer: NodeJS.Timeout | undefined;

  /**
   * The service works. From now on, notifies the watchdog twice in its period.
   *
   * @param isAlive false lets the watchdog end the service
   * @param describe status line of the service
   */
  ready(isAlive: () => boolean, describe: () => string): void {
    if (!this.#isUnit) return;
    this.#send('READY=1', `STATUS=${describe()}`);
    const periodUs = Number(process.env['WATCHDOG_USEC'] ?? 0);
    if (!(periodUs > 0)) return;
    this.#timer = setInterval(() => {
      if (isAlive()) this.#send('WATCHDOG=1', `STATUS=${describe()}`);
    }, periodUs / 2000);
    this.#timer.unref();
  }

  /** The service ends. */
  stopping(): void {
    clearInterval(this.#timer);
    if (this.#isUnit) this.#send('STOPPING=1');
  }

  get #isUnit(): boolean {
    return (process.env['NOTIFY_SOCKET'] ?? '') !== '';
  }

  #send(...assignments: readonly string[]): void {
    // Node has no datagram sockets of this kind. A message that is lost is followed by the next.
    execFile('systemd-notify', [...assignments], () => undefined);
  }
}
