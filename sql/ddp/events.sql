-- needs: ddp/goals.sql, ddp/strikes.sql, ddp/placement.sql
-- Whom the events of the cards concern in ddp (D-Day at Peleliu): the event descriptions, 10.17, 18.32.
--
-- `ddp.event_targets` tells each unit or hex that comes into question, and in its verdict the targets by rank.

drop type if exists ddp.concerned cascade;
create type ddp.concerned as (
  what text,
  label text,
  first integer,
  second integer,
  third integer,
  fourth integer,
  note text,
  point text
);

comment on type ddp.concerned is
'A unit or hex that an event may concern, with what it is ranked by: the lowest numbers first.';

create or replace function ddp._stricken(scene ddp.scene, event text, symbol text)
returns setof ddp.concerned
language sql stable rows 20
as $$
  -- heat, minefield, lost: steps, then the symbol of the card, then the distance from a landing beach
  select
    marine.code,
    marine.label,
    case when event = 'minefield' then -coalesce(marine.steps, 0) else coalesce(marine.steps, 0) end,
    case when marine.symbol = _stricken.symbol then 0 else 1 end,
    -coalesce(marine.shore, 0),
    0,
    format('%s steps, %s hexes from a landing beach', coalesce(marine.steps::text, 'unknown'), marine.shore),
    case when event = 'minefield' then 'ddp-36' end
  from ddp._marines(scene) as marine
  where case event
    when 'heat_exhaustion' then marine.kind = 'infantry'
    when 'lost' then marine.kind in ('infantry', 'heavy_infantry', 'infantry_hq') and marine.terrain = 'jungle'
    when 'minefield' then not marine.disrupted and (
      marine.kind in ('infantry', 'heavy_infantry', 'infantry_hq')
      or (((scene.state).readings ->> 'ddp-36') = 'b' and marine.kind not in ('regimental_hq', 'command_post', 'hero'))
    )
    else false
  end
$$;

comment on function ddp._stricken(ddp.scene, text, text) is
'The US units that heat, a minefield or the jungle may disrupt, with their order (ddp-36).';

create or replace function ddp._chosen_marines(scene ddp.scene, event text)
returns setof ddp.concerned
language sql stable rows 20
as $$
  select
    man.code,
    coalesce(man.label, man.box),
    0,
    0,
    0,
    0,
    format('%s steps', coalesce(man.steps::text, 'no')),
    null
  from unnest(scene.marines) as man
  where man.kind not in ('garrison', 'hero')
    and case event
      when 'black_angels' then man.kind = 'infantry' and man.steps < 4
      when 'scattered_platoon' then man.kind in ('infantry', 'heavy_infantry') and man.steps = 1
      when 'hero' then not man.hero
      else false
    end
$$;

comment on function ddp._chosen_marines(ddp.scene, text) is
'The US units among which the player chooses for a hero or a step.';

create or replace function ddp._unseen(scene ddp.scene, event text)
returns setof ddp.concerned
language sql stable rows 20
as $$
  -- what is turned up: the nearest to a US unit; a hero too many shows one next to a US unit (10.17)
  select
    case when holder.fortification then 'fortification' else holder.code end,
    holder.label,
    case when event = 'hero_reveals' then 0 else ddp._to_marines(scene, holder.q, holder.r) end,
    0,
    0,
    0,
    format('%s hexes from the nearest US unit', ddp._to_marines(scene, holder.q, holder.r)),
    null
  from unnest(scene.holders) as holder
  where ddp._to_marines(scene, holder.q, holder.r) is not null
    and case event
      when 'patrol_report' then not holder.revealed and (holder.fortification or not ddp._ridge((scene.state).conditions))
      when 'hero_reveals' then
        not holder.fortification and not holder.revealed and ddp._to_marines(scene, holder.q, holder.r) = 1
      else
        not holder.fortification
        and (not holder.revealed or (holder.attributes ? 'depth' and not ddp._flag(holder.attributes -> 'depth', 'revealed')))
    end
$$;

comment on function ddp._unseen(ddp.scene, text) is
'The Japanese units that dogs, a plane, a patrol or a hero may reveal, the nearest to a US unit first.';

create or replace function ddp._posts_under_fire(scene ddp.scene)
returns setof ddp.concerned
language sql stable rows 3
as $$
  select
    man.code,
    man.label,
    (
      select min(lattice.distance(man.q, man.r, holder.q, holder.r))
      from unnest(scene.holders) as holder
      where not holder.fortification
    ),
    0,
    0,
    0,
    'its distance to the nearest Japanese unit',
    null
  from unnest(scene.marines) as man
  where man.kind = 'command_post'
    and man.q is not null
$$;

comment on function ddp._posts_under_fire(ddp.scene) is
'The command posts, the closest to a Japanese unit first.';

create or replace function ddp._suicides(scene ddp.scene)
returns setof ddp.concerned
language sql stable rows 6
as $$
  -- with depth beside a US unit: nearest to a landing beach, then beside the most US steps
  select
    holder.code,
    holder.label,
    (
      select min(lattice.distance(holder.q, holder.r, beach.q, beach.r))
      from ddp._landing_beaches((scene.state).map_id) as beach
    ),
    -most.steps,
    0,
    0,
    format('beside %s US steps', most.steps),
    null
  from unnest(scene.holders) as holder
  cross join lateral (
    select max(stack.steps) as steps
    from (
      select sum(coalesce(marine.steps, 0)) as steps
      from ddp._marines(scene) as marine
      where lattice.distance(marine.q, marine.r, holder.q, holder.r) = 1
      group by marine.label
    ) as stack
  ) as most
  where not holder.fortification
    and holder.depth
    and most.steps is not null
$$;

comment on function ddp._suicides(ddp.scene) is
'The Japanese units with depth beside US units, by the order of a suicide attack.';

create or replace function ddp._cave_hexes(scene ddp.scene)
returns setof ddp.concerned
language sql stable rows 6
as $$
  -- most occupied positions beside it, the highest level, beside a US unit, the southernmost
  select
    hex.label,
    hex.label,
    -count(distinct holder.place)::integer,
    -min(hex.level)::integer,
    case when min(ddp._to_marines(scene, hex.q, hex.r)) = 1 then 0 else 1 end,
    -(2 * min(hex.r) + min(hex.q)),
    format('beside %s occupied positions', count(distinct holder.place)),
    null
  from public.hex
  inner join unnest(scene.holders) as holder
    on holder.place is not null and lattice.distance(hex.q, hex.r, holder.q, holder.r) = 1
  where hex.map_id = (scene.state).map_id
    and hex.terrain = 'mountain'
    and not exists (select from unnest(scene.sites) as site where site.label = hex.label)
    and not exists (
      select from public.unit
      where unit.position_id = (scene.state).position_id and unit.q = hex.q and unit.r = hex.r
    )
  group by hex.label
$$;

comment on function ddp._cave_hexes(ddp.scene) is
'The mountain hexes in which a cave may open, in order.';

create or replace function ddp._ordered_attacks(scene ddp.scene)
returns setof ddp.concerned
language sql stable rows 6
as $$
  select distinct on (holder.label)
    holder.label,
    holder.label,
    0,
    0,
    0,
    0,
    format('%s is beside it', marine.code),
    null
  from unnest(scene.holders) as holder
  inner join ddp._marines(scene) as marine
    on not marine.disrupted
      and marine.kind in ('infantry', 'heavy_infantry', 'infantry_hq', 'engineer')
      and lattice.distance(marine.q, marine.r, holder.q, holder.r) = 1
  where holder.place is not null
    -- 19.2: not over a side that the fortification blocks
    and not exists (
      select
      from unnest(scene.holders) as fort
      where fort.fortification
        and fort.label = holder.label
        and fort.revealed
        and fort.attributes -> 'blocked' @> to_jsonb(lattice.direction(marine.q - holder.q, marine.r - holder.r))
    )
  order by holder.label, marine.code
$$;

comment on function ddp._ordered_attacks(ddp.scene) is
'The occupied position hexes that mandatory attacks must strike: undisrupted infantry or engineers are beside them.';

create or replace function ddp._smoked(scene ddp.scene, colors text[])
returns setof ddp.concerned
language sql stable rows 6
as $$
  select distinct on (site.place)
    site.label,
    site.label,
    0,
    0,
    0,
    0,
    format('%s fires onto a landing beach', site.place),
    null
  from unnest(scene.sites) as site
  where site.covers
    and site.color = any(colors)
    and not exists (
      select from public.marker
      where marker.position_id = (scene.state).position_id
        and marker.kind = 'smoke'
        and marker.q = site.q
        and marker.r = site.r
    )
  order by site.place, site.label
$$;

comment on function ddp._smoked(ddp.scene, text[]) is
'The positions of some colors that fire onto a landing beach, where smoke is laid.';

create or replace function ddp.event_targets(
  position_id bigint,
  event text,
  symbol text default null,
  colors text[] default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  found ddp.concerned[];
begin
  found := case
    when event in ('heat_exhaustion', 'lost', 'minefield')
      then array(select one from ddp._stricken(scene, event, symbol) as one)
    when event in ('black_angels', 'scattered_platoon', 'hero')
      then array(select one from ddp._chosen_marines(scene, event) as one)
    when event in ('war_dogs', 'observation_plane', 'patrol_report', 'hero_reveals')
      then array(select one from ddp._unseen(scene, event) as one)
    when event = 'cp_under_fire' then array(select one from ddp._posts_under_fire(scene) as one)
    when event = 'suicide_attack' then array(select one from ddp._suicides(scene) as one)
    when event = 'hidden_caves' then array(select one from ddp._cave_hexes(scene) as one)
    when event = 'mandatory_attacks' then array(select one from ddp._ordered_attacks(scene) as one)
    when event = 'smoke' then array(select one from ddp._smoked(scene, colors) as one)
  end;
  return query
  select
    '4.0', null::text, one.label, 'candidate', format('%s: %s', one.what, one.note), one.point, one.what,
    null::integer, null::jsonb
  from unnest(found) as one
  order by one.first, one.second, one.third, one.fourth, one.what, one.label;
  return next row(
    '4.0', null, null, case when cardinality(found) = 0 then 'no event' else 'event' end,
    case when cardinality(found) = 0 then 'it concerns nobody' else 'the first of the candidates' end, null, null, null,
    jsonb_build_object(
      'targets', (
        select coalesce(jsonb_agg(to_jsonb(ranked) order by ranked.rank, ranked.unit, ranked.label), '[]')
        from (
          select
            one.what as unit,
            one.label,
            dense_rank() over (order by one.first, one.second, one.third, one.fourth) as rank
          from unnest(found) as one
        ) as ranked
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ddp.event_targets(bigint, text, text, text[], jsonb, jsonb) is
'Whom or what an event concerns: every unit or hex in question, and the targets by rank in the verdict.';
