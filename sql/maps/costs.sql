-- Movement costs as the rulebooks print them: of terrain, hexsides and paths, by mobility.
--
-- All printed numbers stand in one table, `terrain_effect`, each with its rule; these views
-- show its movement costs alone, in points. A cost that is not printed is no row.

create or replace view maps.terrain_cost as
select
  effect.ruleset,
  effect.code as terrain,
  effect.mobility,
  effect.halves / 2.0 as points,
  effect.word,
  effect.condition,
  effect.rule
from public.terrain_effect as effect
where effect.feature = 'terrain'
  and effect.aspect = 'cost';

comment on view maps.terrain_cost is
'Movement points to enter a kind of terrain, by mobility; word is prohibited, or all for the whole allowance.';

create or replace view maps.hexside_cost as
select
  effect.ruleset,
  effect.code as kind,
  effect.mobility,
  effect.halves / 2.0 as points,
  effect.word,
  effect.condition,
  effect.rule
from public.terrain_effect as effect
where effect.feature = 'hexside'
  and effect.aspect = 'cost';

comment on view maps.hexside_cost is
'Movement points to cross a kind of hexside on top of the terrain entered, by mobility.';

create or replace view maps.path_cost as
select
  effect.ruleset,
  effect.code as kind,
  effect.mobility,
  effect.halves / 2.0 as points,
  effect.word,
  effect.condition,
  effect.rule
from public.terrain_effect as effect
where effect.feature = 'path'
  and effect.aspect = 'cost';

comment on view maps.path_cost is
'Movement points to enter a hex along a kind of path, by mobility.';
