// Starts the console.
import { render } from 'preact';
import '../../src/http/browser/pages/shared.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/frame.css';
import './styles/list.css';
import './styles/activity.css';
import './styles/agent.css';
import './styles/agent-page.css';
import './styles/events.css';
import './styles/dialog.css';
import './styles/palette.css';
import './styles/gate.css';
import { App } from './app.tsx';
import { applyStoredTheme } from './theme.ts';

applyStoredTheme();
render(<App />, document.getElementById('page')!);
