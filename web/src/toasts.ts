// Notifications about the results of actions. components/toaster.tsx shows them.
export interface Toast {
  readonly id: number;
  readonly kind: 'done' | 'info' | 'error';
  readonly message: string;
  readonly action: ToastAction | undefined;
}

/** A button of a notification, which is dismissed when it is pressed. */
export interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

let toasts: readonly Toast[] = [];
let lastId = 0;
let onChange: (toasts: readonly Toast[]) => void = () => {};

export function listenForToasts(listener: (toasts: readonly Toast[]) => void): void {
  onChange = listener;
}

export function notify(kind: Toast['kind'], message: string, action?: ToastAction): void {
  toasts = [...toasts.slice(-2), { id: ++lastId, kind, message, action }];
  onChange(toasts);
}

export function dismiss(id: number): void {
  toasts = toasts.filter((toast) => toast.id !== id);
  onChange(toasts);
}
