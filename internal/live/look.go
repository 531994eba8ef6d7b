package live

// Look lets every view look into the log and at its chat, as a wake without
// content does. It makes good wakes that were lost on the way.
func (h *Hub) Look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.views {
		v.wakeAll()
	}
}

// wakeAll notes that anything may have changed.
func (v *view) wakeAll() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending.chrome, v.pending.log = true, true
	v.raise()
}
