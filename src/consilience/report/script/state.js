// The state that the parts of the page share. A part that changes it calls `announce(topic)`; parts that show it `listen`.
// Topics: "level" (number of groups shown), "focus" (the group shown alone), "selection" (selected rows), "theme".
const state = {
  level: null, // number of groups; null for the clusters of the model
  focus: null, // number of the group that is shown alone, -1 for rows without a group; null for all
  selection: null, // Set of selected rows; null if none is selected
};
const listeners = {};
const listen = (topic, react) => (listeners[topic] ||= []).push(react);
const announce = (topic) => (listeners[topic] || []).forEach((react) => react());
