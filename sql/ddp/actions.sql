-- needs: ddp/scene.sql, ddp/japanese_communication.sql, rulings/step.sql, charts/cells.sql
-- What a Japanese position does by a letter of the fire card in ddp (D-Day at Peleliu): 12.0, 13.2, 16.0, 18.35.
--
-- `ddp._situation` finds the row of the Japanese Action Chart and its action, `ddp.checked` (sql/ddp/checks.sql) asks it;
-- whoever then has a goal or a target asks `ddp.goals` (sql/ddp/goals.sql) or `ddp.strike` (sql/ddp/strikes.sql).

create or replace function ddp._linked(state positions.state, linked text[])
returns text[]
language plpgsql stable
as $$
#variable_conflict use_variable
begin
  -- 11.22: as it was when the Fire Phase began, where that is told
  return coalesce(
    linked,
    array(
      select spot.label
      from ddp._japanese_communication(state) as spot
      where spot.in_communication
      order by spot.label
    )
  );
end
$$;

comment on function ddp._linked(positions.state, text[]) is
'The position hexes in Japanese communication: as it was told, else as it is now (11.22).';

drop type if exists ddp.plight cascade;
create type ddp.plight as (
  place text,
  color text,
  held boolean,
  awake boolean,
  tank boolean,
  stance boolean,
  targets boolean,
  near integer,
  guns boolean,
  mountaintop boolean,
  free text array,
  cut_off text array
);

comment on type ddp.plight is
'The situation of a position: held, by somebody undisrupted, by a tank, US units in its field, how near the nearest is.';
comment on column ddp.plight.free is 'Unoccupied hexes in communication with a US unit within three hexes, the lowest number first';
comment on column ddp.plight.cut_off is 'Unoccupied hexes out of communication with a US unit within three hexes';

create or replace function ddp._plights(scene ddp.scene, places text[], linked text[])
returns setof ddp.plight
language plpgsql stable rows 10
as $$
#variable_conflict use_variable
declare
  -- positions with US units in their printed dots, and in those into which somebody fires
  printed text[] := array(
    select distinct dot.place
    from unnest((scene.ground).printed) as dot
    inner join ddp._marines(scene) as marine on marine.q = dot.q and marine.r = dot.r
  );
  fired_on text[] := array(
    select distinct dot.place
    from unnest(scene.dots) as dot
    inner join ddp._marines(scene) as marine on marine.q = dot.q and marine.r = dot.r
  );
begin
  return query
  select
    site.place,
    site.color,
    site.held,
    holder.awake,
    holder.tank,
    holder.stance,
    site.place = any(fired_on) or (not holder.awake and site.place = any(printed)),
    site.near,
    site.guns,
    site.mountaintop,
    site.free,
    site.cut_off
  from (
    select
      site.place,
      min(site.color) as color,
      bool_or(site.held is not null) as held,
      min(site.near) as near,
      bool_or(site.guns) as guns,
      bool_or(site.mountaintop) as mountaintop,
      array_agg(site.label order by site.number, site.id, site.label)
        filter (where site.held is null and not site.taken and site.near <= 3 and site.label = any(linked)) as free,
      array_agg(site.label order by site.number, site.id, site.label)
        filter (where site.held is null and not site.taken and site.near <= 3 and site.label <> all(linked)) as cut_off
    from unnest(scene.sites) as site
    where site.place = any(places)
    group by site.place
  ) as site
  cross join lateral (
    select
      coalesce(bool_or(not holder.disrupted and not holder.stance), false) as awake,
      coalesce(bool_and(holder.tank) filter (where not holder.stance), false) as tank,
      coalesce(bool_and(holder.stance), false) as stance
    from unnest(scene.holders) as holder
    where holder.place = site.place
  ) as holder
  order by array_position(places, site.place);
end
$$;

comment on function ddp._plights(ddp.scene, text[], text[]) is
'The situation of positions, from which their rows of the Japanese Action Chart follow (12.0).';

create or replace function ddp._chart_action(conditions jsonb, plight ddp.plight, letter text)
returns text
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  row_key text := case
    when plight.held and plight.tank then 'tank'
    when plight.held and plight.targets then 'us_in_field'
    when plight.held then 'no_us_in_field'
    else 'unoccupied'
  end;
begin
  if ddp._ridge(conditions) then
    if not plight.held then
      return 'none';
    end if;
    row_key := 'bnr/' || row_key;
  end if;
  return coalesce(
    (
      select nullif(cell.value, '-')
      from charts.cell(
        'ddp', 'japanese_action_summary',
        row_key || case
          when ddp._ridge(conditions) and plight.mountaintop then '/mountaintop'
          when plight.guns and not ddp._ridge(conditions) then '/artillery_position'
          else ''
        end,
        coalesce(letter, 'none')
      ) as cell
    ),
    (
      select cell.value
      from charts.cell('ddp', 'japanese_action_summary', row_key, coalesce(letter, 'none')) as cell
    )
  );
end
$$;

comment on function ddp._chart_action(jsonb, ddp.plight, text) is
'The cell of the Japanese Action Chart for a situation and a letter in force; null is no letter (chart, 12.0, 18.35).';

create or replace function ddp._situation_steps(state positions.state, plight ddp.plight, letter text, printed text, action text)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    entry.rule,
    null::text,
    plight.place,
    entry.effect,
    entry.note,
    entry.point,
    null::text,
    null::integer,
    null::jsonb
  from (
    values
    (
      1, printed is not null and letter is null and not (printed = 'M' and ddp._overnight(state.conditions)), '12.0',
      'no letter', format('%s is not in force yet', printed), null
    ),
    (
      2, printed = 'M' and letter is null and ddp._overnight(state.conditions), '16.0', 'no letter',
      'at night an M is no letter', null
    ),
    (3, letter is not null, '12.0', letter, format('the letter %s is in force', letter), null),
    (
      4, plight.held and not plight.awake and not plight.tank, '6.4', 'none',
      'whoever is there is disrupted and does nothing', null
    ),
    (
      5, plight.held and not plight.awake and plight.tank, '13.2', action,
      case when action = 'recover' then 'a disrupted tank first loses its marker, and does nothing else'
        else 'a disrupted tank loses its marker when all fire is done' end, 'ddp-58'
    ),
    (6, plight.held and plight.awake and plight.targets, '12.0', 'us in field', 'US units are in its field of fire', null),
    (
      7, plight.held and plight.awake and not plight.targets, '12.0', 'no us in field',
      'no US unit is in its field of fire', null
    ),
    (
      8, not plight.held and letter in ('M', 'R', 'A') and plight.free is null and not ddp._ridge(state.conditions), '12.0',
      'none', 'it is empty, and no hex of it is free, in communication and within three hexes of a US unit', null
    ),
    (
      9, not plight.held and letter = 'A' and plight.free is not null and not plight.targets, '12.9', 'none',
      'no US unit is in its field of fire', 'ddp-37'
    ),
    (
      10, not plight.held and letter = 'I' and plight.cut_off is null and not ddp._ridge(state.conditions), '12.10',
      'none', 'no hex of it is free, out of communication and within three hexes of a US unit', 'ddp-19'
    ),
    (
      10, not plight.held and letter = 'I' and plight.cut_off is not null and not ddp._ridge(state.conditions), '12.10',
      'cut off', 'out of communication, a unit may infiltrate into it', 'ddp-19'
    ),
    (11, not plight.held and letter is null, '12.0', 'none', 'it is empty, and acts by a letter alone', null),
    (12, not plight.held and ddp._ridge(state.conditions), '18.35', 'none', 'an unoccupied position does nothing', null),
    (
      13, plight.awake and letter = 'A' and plight.guns and not plight.tank and not ddp._ridge(state.conditions), '12.8',
      'artillery position', 'it has guns, and does not assault', null
    ),
    (
      14, ddp._overnight(state.conditions) and plight.awake and letter = 'A' and plight.guns and not plight.targets,
      '16.0', 'none', 'at night the artillery action is no action', null
    ),
    (
      15, ddp._ridge(state.conditions) and plight.awake and letter = 'P' and not plight.targets, '18.35', action,
      'a patrol without targets, by the chart of Bloody Nose Ridge', 'ddp-20'
    ),
    (
      16, ddp._ridge(state.conditions) and plight.awake and letter = 'M' and plight.targets, '18.35', action,
      'fire on an M, by the chart of Bloody Nose Ridge', 'ddp-21'
    )
  ) as entry (n, holds, rule, effect, note, point)
  where entry.holds
  order by entry.n
$$;

comment on function ddp._situation_steps(positions.state, ddp.plight, text, text, text) is
'Every rule that speaks when a position is checked for an action (12.0, 13.2, 16.0, 18.35).';

create or replace function ddp._action(state positions.state, plight ddp.plight, letter text)
returns text
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  reading jsonb := state.readings;
  action text;
begin
  action := case
    when plight.stance then 'none'
    when plight.held and not plight.awake and plight.tank
      then case when reading ->> 'ddp-58' = 'b' then 'none' else 'recover' end
    when plight.held and not plight.awake then 'none'
    when not plight.held and letter in ('M', 'R') and plight.free is null then 'none'
    when not plight.held and letter = 'A'
      and (plight.free is null or not plight.targets or reading ->> 'ddp-37' = 'b') then 'none'
    when not plight.held and letter = 'I' and plight.cut_off is null then 'none'
    else ddp._chart_action(state.conditions, plight, letter)
  end;
  action := case
    when action = 'artillery_fire' and ddp._overnight(state.conditions) then 'none'
    when ddp._ridge(state.conditions) and plight.awake and letter = 'P' and not plight.targets
      and reading ->> 'ddp-20' = 'b' then 'patrol'
    when ddp._ridge(state.conditions) and plight.awake and letter = 'M' and plight.targets
      and reading ->> 'ddp-21' = 'b' then 'machine_guns'
    else action
  end;
  return action;
end
$$;

comment on function ddp._action(positions.state, ddp.plight, text) is
'The action of a position by a letter in force, as the chart and the contested points have it; none where it does nothing.';

create or replace function ddp._situation(
  scene ddp.scene, plight ddp.plight, printed text, letter text, action text, connected text[]
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
#variable_conflict use_variable
declare
  state positions.state := scene.state;
begin
  return query
  select * from ddp._situation_steps(state, plight, letter, printed, action);
  return next row(
    '12.0', null, plight.place, action,
    case when action = 'none' then 'it does nothing' else format('its action is %s', replace(action, '_', ' ')) end,
    null, null, null,
    to_jsonb(plight) || jsonb_build_object(
      'action', action,
      'letter', letter,
      'row', case
        when plight.held and plight.tank then 'tank'
        when plight.held and plight.targets then 'us_in_field'
        when plight.held then 'no_us_in_field'
        else 'unoccupied'
      end,
      'linked', connected,
      'ridge', ddp._ridge(state.conditions),
      'ddp-14', state.readings ->> 'ddp-14',
      'holders', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object(
              'unit', holder.code, 'label', holder.label, 'disrupted', holder.disrupted, 'tank', holder.tank,
              'depth', holder.depth, 'fortification', holder.fortification, 'in_communication', holder.label = any(connected)
            )
            order by holder.q, holder.label, holder.fortification
          ),
          '[]'
        )
        from unnest(scene.holders) as holder
        where holder.place = plight.place
          and not holder.stance
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ddp._situation(ddp.scene, ddp.plight, text, text, text, text[]) is
'The row of the Japanese Action Chart in which a position finds itself, and its action by a letter in force; the verdict last.';
